//! The encryption of what is served.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use thiserror::Error;

/// Which certificates encrypt what is served, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsConfig {
    /// A PEM file of the server's certificate, and of those between it and an authority that clients trust.
    pub cert: PathBuf,
    /// A PEM file of its private key.
    pub key: PathBuf,
    /// A PEM file of authorities: a client has to show a certificate of one of them. Absent: clients show none.
    pub ca: Option<PathBuf>,
    /// Who goes without.
    pub policy: TlsPolicy,
}

/// Who goes without encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsPolicy {
    /// Nobody: a client that does not encrypt is told nothing, not even what there is.
    #[default]
    Require,
    /// Whoever wants to.
    Offer,
}

/// Why nothing can be encrypted.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file that cannot be read.
    #[error("{option} \"{path}\": {error}")]
    File {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// A file without what it should have.
    #[error("{option} \"{path}\": {what}")]
    Content {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
}

/// The certificates that sessions are encrypted with, and who goes without.
#[derive(Clone, Debug)]
pub(crate) struct Encryption {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) policy: TlsPolicy,
}

impl Encryption {
    /// Reads the files of `config`.
    pub(crate) fn load(config: &TlsConfig) -> Result<Self, TlsError> {
        Ok(Self { config: load(config)?, policy: config.policy })
    }
}

fn load(config: &TlsConfig) -> Result<Arc<ServerConfig>, TlsError> {
    let chain = certificates("--tls-cert", &config.cert)?;
    let key = PrivateKeyDer::from_pem_slice(&read("--tls-key", &config.key)?)
        .map_err(|error| content("--tls-key", &config.key, format!("has no private key: {error}")))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let wrong = |error: rustls::Error| content("--tls-cert", &config.cert, error.to_string());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(wrong)?;
    let builder = match &config.ca {
        None => builder.with_no_client_auth(),
        Some(ca) => {
            let wrong = |what: String| content("--tls-ca", ca, what);
            let mut roots = RootCertStore::empty();
            for authority in certificates("--tls-ca", ca)? {
                roots.add(authority).map_err(|error| wrong(error.to_string()))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| wrong(error.to_string()))?)
        }
    };
    let mut made = builder
        .with_single_cert(chain, key)
        .map_err(|error| content("--tls-key", &config.key, format!("does not fit --tls-cert: {error}")))?;
    // A client comes once and stays: nothing is gained by sessions that can be resumed.
    made.send_tls13_tickets = 0;
    Ok(Arc::new(made))
}

fn certificates(option: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read(option, path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|error| content(option, path, error.to_string()))?;
    if found.is_empty() { Err(content(option, path, "has no certificate".to_owned())) } else { Ok(found) }
}

#[allow(clippy::disallowed_methods, reason = "certificates are in files")]
fn read(option: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|error| TlsError::File { option, path: path.display().to_string(), error })
}

fn content(option: &'static str, path: &Path, what: String) -> TlsError {
    TlsError::Content { option, path: path.display().to_string(), what }
}
