//! What can go wrong when the sender is set up. What goes wrong with one request is not an error
//! but an [`Exchange`](crate::Exchange) to be judged.

/// Why an [`Egress`](crate::Egress) could not be built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A certificate given as an additional root cannot be read.
    #[error(
        "an additional root certificate cannot be used: {cause}. Give each as a DER or PEM X.509 certificate."
    )]
    ExtraRoot {
        /// What rustls said.
        cause: rustls::Error,
    },
    /// The TLS library refused the configuration.
    #[error("TLS cannot be set up: {cause}.")]
    Tls {
        /// What rustls said.
        cause: rustls::Error,
    },
    /// The DNS resolver cannot be built.
    #[error("the DNS resolver cannot be set up: {cause}. Check egress.resolver.")]
    Resolver {
        /// What the resolver library said.
        cause: String,
    },
    /// The proxy's URL cannot be read.
    #[error(
        "egress.proxy is not a proxy's address. Write it as http://host:port or http://user:password@host:port."
    )]
    Proxy,
    /// The user agent could not stand in a header line.
    #[error("the user agent must be printable ASCII and not empty. Check egress.user_agent.")]
    UserAgent,
}
