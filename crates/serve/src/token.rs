//! The access token of a server: [`Token`].

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The allowed number of characters of a token.
const ALLOWED_LENGTH: std::ops::RangeInclusive<usize> = 16..=256;

/// The reason that there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The text could be guessed, or does not fit in a header.
    #[error("invalid token in {place}: expected 16 to 256 letters, digits or any of `-._~+/=`")]
    Unfit {
        /// The source of the text, such as a variable or a file.
        place: String,
    },
    /// Other users can read the file.
    #[error(
        "`{path}` is readable by other users; run `chmod 600 {path}`, or delete it to get a new \
         token"
    )]
    Open {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("cannot access `{path}`")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The system returned no random numbers.
    #[error("cannot read random numbers: {0}")]
    Random(String),
}

/// A secret text that authenticates a request. It is never shown.
#[derive(Clone)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// Creates a token from a text. `place` names the source of the text in the error.
    pub fn new(text: &str, place: impl Into<String>) -> Result<Token, TokenError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        match ALLOWED_LENGTH.contains(&text.len()) && text.bytes().all(allowed) {
            true => Ok(Token(text.to_owned())),
            false => Err(TokenError::Unfit { place: place.into() }),
        }
    }

    /// Returns the bytes of the token, as the key of signatures.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Reads the token from a file that only its owner can read. Creates a missing file with a
    /// random token.
    pub fn read_or_create(path: &Path) -> Result<Token, TokenError> {
        let fail = |source| TokenError::File { path: path.to_owned(), source };
        match File::open(path) {
            Ok(file) => read(file, path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let token = Token::random()?;
                match token.write(path) {
                    Ok(()) => Ok(token),
                    // Another process created the file in the meantime.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        read(File::open(path).map_err(fail)?, path)
                    }
                    Err(error) => Err(fail(error)),
                }
            }
            Err(error) => Err(fail(error)),
        }
    }

    /// Returns a new random token.
    pub(crate) fn random() -> Result<Token, TokenError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Writes the token to a new file. The file is complete before it gets its name, and only its
    /// owner can read it.
    fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(draft, "{}", self.0)?;
        draft.as_file().sync_all()?;
        draft.persist_noclobber(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Returns true if a text is this token. The time does not depend on the number of equal
    /// characters.
    pub(crate) fn matches(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differences = own.iter().zip(given.iter().chain(std::iter::repeat(&0)));
        let difference = differences.fold(0, |so_far, (a, b)| so_far | (a ^ b));
        std::hint::black_box(difference) == 0 && own.len() == given.len()
    }
}

fn read(file: File, path: &Path) -> Result<Token, TokenError> {
    let fail = |source| TokenError::File { path: path.to_owned(), source };
    if is_open_to_others(&file).map_err(fail)? {
        return Err(TokenError::Open { path: path.to_owned() });
    }
    let mut text = String::new();
    file.take(1024).read_to_string(&mut text).map_err(fail)?;
    Token::new(text.trim(), format!("`{}`", path.display()))
}

/// Returns true if other users than the owner can access the file.
#[cfg(unix)]
fn is_open_to_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &File) -> io::Result<bool> {
    Ok(false)
}
