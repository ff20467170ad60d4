//! The boot of the machine: [`boot_id`] distinguishes it from other boots.

/// The file in which the kernel stores the id of the current boot.
#[cfg(target_os = "linux")]
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Returns the id of the current boot, or `unknown` if the system has none. Uptimes of different
/// boots cannot be compared.
pub(crate) fn boot_id() -> String {
    #[cfg(target_os = "linux")]
    let id = std::fs::read_to_string(BOOT_ID).ok();
    #[cfg(not(target_os = "linux"))]
    let id: Option<String> = None;
    id.map_or_else(|| "unknown".to_owned(), |id| id.trim().to_owned())
}
