//! What a request has to know to be let in: [`Token`].

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The fewest and most characters of a token.
const LENGTH: std::ops::RangeInclusive<usize> = 16..=256;

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It could be guessed, or does not fit in a header.
    #[error("the token in {place} is none: it has 16 to 256 letters, digits or any of `-._~+/=`")]
    Unfit {
        /// Where it is from.
        place: String,
    },
    /// Others can read it.
    #[error("`{path}` can be read by others; `chmod 600 {path}`, or delete it to get a new one")]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be used.
    #[error("could not use `{path}`")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no chance to be had.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
}

/// A secret word. It is never shown.
#[derive(Clone)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// Takes one from somewhere.
    pub fn new(text: &str, place: impl Into<String>) -> Result<Token, TokenError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        match LENGTH.contains(&text.len()) && text.bytes().all(allowed) {
            true => Ok(Token(text.to_owned())),
            false => Err(TokenError::Unfit { place: place.into() }),
        }
    }

    /// Takes the one in a file that only its owner can read. A file that is missing is made, with
    /// a random one in it.
    pub fn in_file(path: &Path) -> Result<Token, TokenError> {
        let fail = |source| TokenError::File { path: path.to_owned(), source };
        match File::open(path) {
            Ok(file) => read(file, path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let token = Token::random()?;
                match token.write(path) {
                    Ok(()) => Ok(token),
                    // Somebody else made it just now.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        read(File::open(path).map_err(fail)?, path)
                    }
                    Err(error) => Err(fail(error)),
                }
            }
            Err(error) => Err(fail(error)),
        }
    }

    fn random() -> Result<Token, TokenError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Writes it to a new file. It is whole before it has its name, and nobody else ever reads it.
    fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(draft, "{}", self.0)?;
        draft.as_file().sync_all()?;
        draft.persist_noclobber(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Says whether a text is this token, in a time that tells nothing about how much of it fits.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differences = own.iter().zip(given.iter().chain(std::iter::repeat(&0)));
        let difference = differences.fold(0, |so_far, (a, b)| so_far | (a ^ b));
        std::hint::black_box(difference) == 0 && own.len() == given.len()
    }
}

fn read(file: File, path: &Path) -> Result<Token, TokenError> {
    let fail = |source| TokenError::File { path: path.to_owned(), source };
    if is_open(&file).map_err(fail)? {
        return Err(TokenError::Open { path: path.to_owned() });
    }
    let mut text = String::new();
    file.take(1024).read_to_string(&mut text).map_err(fail)?;
    Token::new(text.trim(), format!("`{}`", path.display()))
}

/// Says whether others than its owner can read a file.
#[cfg(unix)]
fn is_open(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open(_: &File) -> io::Result<bool> {
    Ok(false)
}
