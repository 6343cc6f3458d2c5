//! Encryption of sessions.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use thiserror::Error;

/// Certificates of a server, and the clients that must encrypt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsConfig {
    /// PEM file with the server's certificate, and those between it and an authority that clients trust.
    pub cert: PathBuf,
    /// PEM file with the server's private key.
    pub key: PathBuf,
    /// PEM file with authorities. If present, a client must show a certificate of one of them.
    pub ca: Option<PathBuf>,
    /// Clients that may go without encryption.
    pub policy: TlsPolicy,
}

/// Clients that may go without encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsPolicy {
    /// None: a client that does not encrypt learns nothing, not even the names of exports.
    #[default]
    Require,
    /// Any that wants to.
    Offer,
}

/// Reason for which sessions cannot be encrypted.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{option} \"{path}\": {error}")]
    File {
        /// Option that names the file.
        option: &'static str,
        /// Path of the file.
        path: String,
        /// Error of the system.
        error: io::Error,
    },
    /// A file lacks what it must contain.
    #[error("{option} \"{path}\": {fault}")]
    Content {
        /// Option that names the file.
        option: &'static str,
        /// Path of the file.
        path: String,
        /// Description of the fault.
        fault: String,
    },
}

/// Loaded certificates, and the clients that must encrypt.
#[derive(Clone, Debug)]
pub(crate) struct SessionEncryption {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) policy: TlsPolicy,
}

impl SessionEncryption {
    /// Reads the files that `config` names.
    pub(crate) fn load(config: &TlsConfig) -> Result<Self, TlsError> {
        Ok(Self { config: load(config)?, policy: config.policy })
    }
}

fn load(config: &TlsConfig) -> Result<Arc<ServerConfig>, TlsError> {
    let chain = certificates("--tls-cert", &config.cert)?;
    let key = PrivateKeyDer::from_pem_slice(&read("--tls-key", &config.key)?)
        .map_err(|error| content("--tls-key", &config.key, format!("has no private key: {error}")))?;
    // Named explicitly: the process-wide default may be set by nobody.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let wrong = |error: rustls::Error| content("--tls-cert", &config.cert, error.to_string());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(wrong)?;
    let builder = match &config.ca {
        None => builder.with_no_client_auth(),
        Some(ca) => {
            let wrong = |fault: String| content("--tls-ca", ca, fault);
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
    // Clients connect once and stay, so tickets to resume a session would gain nothing.
    made.send_tls13_tickets = 0;
    Ok(Arc::new(made))
}

fn certificates(option: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read(option, path)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let certificates = certificates.map_err(|error| content(option, path, error.to_string()))?;
    if certificates.is_empty() {
        Err(content(option, path, "has no certificate".to_owned()))
    } else {
        Ok(certificates)
    }
}

#[allow(clippy::disallowed_methods, reason = "certificates are in files")]
fn read(option: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|error| TlsError::File { option, path: path.display().to_string(), error })
}

fn content(option: &'static str, path: &Path, fault: String) -> TlsError {
    TlsError::Content { option, path: path.display().to_string(), fault }
}
