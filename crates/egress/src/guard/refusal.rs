//! What the guard says when it says no: a stable code, a full sentence for the operator, and for
//! the partner no more than that it is not allowed. A partner who probes for inside addresses
//! must not learn from the answer what is there.

use std::fmt;
use std::net::IpAddr;

/// The rule that refused a URL. The texts of [`RefusedCode::as_str`] are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusedCode {
    /// It is not a URL, or one that two readers might read differently.
    Syntax,
    /// Not https (nor http, where that is allowed).
    Scheme,
    /// The port is not in `egress.allow_ports`.
    Port,
    /// It carries a user name or password.
    Userinfo,
    /// It carries a fragment, which never reaches a server.
    Fragment,
    /// The host's name is not allowed.
    Host,
    /// The host is a literal address that is not allowed.
    Address,
}

impl RefusedCode {
    /// The code as it stands in API answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Scheme => "scheme",
            Self::Port => "port",
            Self::Userinfo => "userinfo",
            Self::Fragment => "fragment",
            Self::Host => "host",
            Self::Address => "address",
        }
    }
}

/// A URL that is not taken. `Display` is the operator's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    code: RefusedCode,
    operator: String,
}

impl Refused {
    /// The stable code: `syntax`, `scheme`, `port`, `userinfo`, `fragment`, `host`, `address`.
    pub fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// The rule that refused it.
    pub fn rule(&self) -> RefusedCode {
        self.code
    }

    /// The full sentence: what, why, which setting.
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// What a partner may know: the form of the URL is theirs to mend, the network is not theirs
    /// to explore.
    pub fn partner(&self) -> &str {
        match self.code {
            RefusedCode::Host | RefusedCode::Address => "this address is not allowed",
            RefusedCode::Port => "this port is not allowed",
            RefusedCode::Scheme => "only https:// addresses are allowed",
            RefusedCode::Syntax | RefusedCode::Userinfo | RefusedCode::Fragment => &self.operator,
        }
    }

    pub(crate) fn syntax(why: &str) -> Self {
        Self { code: RefusedCode::Syntax, operator: format!("endpoint url is not accepted: {why}.") }
    }

    pub(super) fn scheme(scheme: &str) -> Self {
        let operator = if scheme == "http" {
            "endpoint url: http:// is not allowed: what is sent could be read on the way. \
             Use https://, or set egress.allow_http if you mean to."
                .to_owned()
        } else {
            format!("endpoint url: scheme \"{scheme}\" is not allowed. Use https://.")
        };
        Self { code: RefusedCode::Scheme, operator }
    }

    pub(super) fn port(port: u16) -> Self {
        Self {
            code: RefusedCode::Port,
            operator: format!(
                "endpoint url: port {port} is not allowed. Add it to egress.allow_ports if you mean to."
            ),
        }
    }

    pub(super) fn userinfo() -> Self {
        Self {
            code: RefusedCode::Userinfo,
            operator: "endpoint url: a user name or password in a URL is not accepted. \
                       Send credentials in a custom header."
                .to_owned(),
        }
    }

    pub(super) fn fragment() -> Self {
        Self {
            code: RefusedCode::Fragment,
            operator: "endpoint url: the part after # never reaches a server. Remove it.".to_owned(),
        }
    }

    pub(super) fn host(host: &str, why: &str) -> Self {
        Self {
            code: RefusedCode::Host,
            operator: format!("endpoint url: host \"{host}\" is not allowed: {why}."),
        }
    }

    pub(super) fn address(denied: Denied) -> Self {
        Self { code: RefusedCode::Address, operator: format!("endpoint url: {}", denied.operator()) }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operator)
    }
}

impl std::error::Error for Refused {}

/// An address that may not be reached. `Display` is the operator's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    host: Option<Box<str>>,
    address: IpAddr,
    why: &'static str,
    configured: bool,
}

impl Denied {
    pub(super) fn built_in(address: IpAddr, why: &'static str) -> Self {
        Self { host: None, address, why, configured: false }
    }

    pub(super) fn by_configuration(address: IpAddr) -> Self {
        Self { host: None, address, why: "it is in egress.deny_networks", configured: true }
    }

    /// The same verdict, naming the host whose address it is.
    pub(crate) fn of_host(mut self, host: &str) -> Self {
        self.host = Some(host.into());
        self
    }

    /// The address that was refused.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The stable code, as in [`Refused::code`]: `address`.
    pub fn code(&self) -> &'static str {
        RefusedCode::Address.as_str()
    }

    /// The full sentence: host, address, why, which setting.
    pub fn operator(&self) -> String {
        let address = self.address;
        let what = match &self.host {
            Some(host) => format!("host \"{host}\" is not allowed: it leads to {address}"),
            None => format!("address {address} is not allowed"),
        };
        let setting = if self.configured {
            "Remove it there if you mean to"
        } else {
            "Allow it with egress.allow_networks if you mean to"
        };
        format!("{what}: {}. {setting}.", self.why)
    }

    /// What a partner may know.
    pub fn partner(&self) -> &'static str {
        "this address is not allowed"
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operator())
    }
}

impl std::error::Error for Denied {}
