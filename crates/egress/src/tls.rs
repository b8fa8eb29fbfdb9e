//! TLS: one client configuration for all, and handshake failures in words.
//!
//! Full verification always; there is no switch to turn it off. An inside certificate authority
//! is added to the roots instead.

use std::io;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, OtherError, PeerIncompatible, RootCertStore, version,
};

use crate::error::Error;
use crate::exchange::{Cause, CauseKind, OurFault, Seen};

/// How many TLS sessions are remembered for quick resumption, one or two per host.
const SESSIONS: usize = 4096;

/// TLS 1.2 and 1.3, the web's roots and `extra_roots`, no client certificate.
pub(crate) fn client_config(extra_roots: &[CertificateDer<'static>]) -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for certificate in extra_roots {
        roots.add(certificate.clone()).map_err(|cause| Error::ExtraRoot { cause })?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&version::TLS13, &version::TLS12])
        .map_err(|cause| Error::Tls { cause })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::in_memory_sessions(SESSIONS);
    Ok(Arc::new(config))
}

/// What a failed handshake with `host` comes to.
pub(crate) fn handshake_failure(cause: &io::Error, host: &str) -> Seen {
    if let Some(fault) = OurFault::of(cause) {
        return Seen::OurFault(fault);
    }
    Seen::Failed(match tls_error(cause) {
        Some(error) => in_words(error, host),
        None if cause.kind() == io::ErrorKind::UnexpectedEof => Cause::new(
            CauseKind::TlsFailed,
            format!("{host} closed the connection during the TLS handshake."),
        ),
        None => Cause::new(
            CauseKind::Reset,
            format!("the connection to {host} broke during the TLS handshake: {cause}."),
        ),
    })
}

/// The TLS error inside an I/O error, if there is one.
pub(crate) fn tls_error(cause: &io::Error) -> Option<&rustls::Error> {
    cause.get_ref()?.downcast_ref()
}

/// Whether a server showed an authority's certificate, as quickly made self-signed ones are.
fn is_authority(other: &OtherError) -> bool {
    matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

/// A TLS error as a cause.
pub(crate) fn in_words(error: &rustls::Error, host: &str) -> Cause {
    use CertificateError as Bad;
    use rustls::Error as Tls;
    let (kind, sentence) = match error {
        Tls::InvalidCertificate(Bad::Expired | Bad::ExpiredContext { .. }) => {
            (CauseKind::TlsExpired, format!("the certificate of {host} has expired."))
        }
        Tls::InvalidCertificate(Bad::NotValidYet | Bad::NotValidYetContext { .. }) => {
            (CauseKind::TlsNotYetValid, format!("the certificate of {host} is not valid yet."))
        }
        Tls::InvalidCertificate(Bad::UnknownIssuer) => (
            CauseKind::TlsUnknownIssuer,
            format!(
                "the certificate of {host} is signed by nobody we trust: it is self-signed, its chain is incomplete, or its authority is not known here."
            ),
        ),
        Tls::InvalidCertificate(Bad::Other(other)) if is_authority(other) => (
            CauseKind::TlsUnknownIssuer,
            format!(
                "the certificate of {host} is an authority's own, used for a server. Have it sign a certificate for the server, and add the authority to the trusted roots."
            ),
        ),
        Tls::InvalidCertificate(Bad::NotValidForName | Bad::NotValidForNameContext { .. }) => {
            (CauseKind::TlsNameMismatch, format!("the certificate that {host} shows is for another name."))
        }
        Tls::AlertReceived(AlertDescription::ProtocolVersion)
        | Tls::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => (CauseKind::TlsObsolete, format!("{host} speaks only versions of TLS older than 1.2.")),
        Tls::InvalidMessage(_) => (CauseKind::TlsFailed, format!("{host} does not speak TLS on this port.")),
        other => (CauseKind::TlsFailed, format!("the TLS handshake with {host} failed: {other}.")),
    };
    Cause::new(kind, sentence)
}
