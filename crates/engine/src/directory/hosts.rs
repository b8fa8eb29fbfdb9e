//! Hosts and ports as small numbers, for the cap on requests to one of them (R22).

use std::collections::HashMap;

use gonets_dispatch::config::HostNo;

#[derive(Default)]
pub(super) struct Hosts {
    numbers: HashMap<Box<str>, HostNo>,
}

impl Hosts {
    pub(super) fn number(&mut self, host_port: &str) -> HostNo {
        if let Some(number) = self.numbers.get(host_port) {
            return *number;
        }
        let number = HostNo(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
        self.numbers.insert(host_port.into(), number);
        number
    }
}
