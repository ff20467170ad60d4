//! The start of the machine: [`boot_id`].

/// The file in which the kernel names the present start of the machine.
#[cfg(target_os = "linux")]
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Returns the id of the present start of the machine. Uptimes of different starts cannot be compared.
pub(crate) fn boot_id() -> String {
    #[cfg(target_os = "linux")]
    let id = std::fs::read_to_string(BOOT_ID).ok();
    #[cfg(not(target_os = "linux"))]
    let id: Option<String> = None;
    id.map_or_else(|| "unknown".to_owned(), |id| id.trim().to_owned())
}
