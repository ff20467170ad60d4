//! Taking little room while there is nothing to do: [`give_back`].
//!
//! Most of what a waiting agent seems to hold is program text that was mapped while it began or
//! worked. The kernel has it again at once when it is called, so it is given back.

/// Gives back the program text that is mapped, where the system offers that.
#[cfg(target_os = "linux")]
pub(crate) fn give_back() {
    let Ok(program) = std::env::current_exe() else { return };
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for (start, length) in texts(&maps, &program.to_string_lossy()) {
        let start = std::ptr::without_provenance_mut(start);
        // SAFETY: the range is program text of this process, mapped privately from its file, not
        // writable and so never written to. Dropping such pages loses nothing: the next use reads
        // the same bytes from the file, which the kernel keeps from being written to while it runs.
        // Where the advice is not taken, all stays as it is.
        #[allow(unsafe_code)]
        let _ = unsafe { rustix::mm::madvise(start, length, rustix::mm::Advice::LinuxDontNeed) };
    }
}

/// Elsewhere nothing is known of it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn give_back() {}

/// Gives start and length of what is mapped of a program to be run and not to be written.
#[cfg(target_os = "linux")]
fn texts(maps: &str, program: &str) -> Vec<(usize, usize)> {
    let text = |line: &str| {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let is_text = fields.next()? == "r-xp";
        let is_ours = fields.last()?.trim_start() == program;
        let at = |hex| usize::from_str_radix(hex, 16).ok();
        let (start, end) = (at(start)?, at(end)?);
        (is_text && is_ours).then(|| Some((start, end.checked_sub(start)?)))?
    };
    maps.lines().filter_map(text).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_run_of_the_program_itself_is_given_back() {
        let maps = "\
            55e0a000-55e0c000 r--p 00000000 fe:00 10010661                   /usr/bin/as say\n\
            55e0c000-55e1f000 r-xp 00002000 fe:00 10010661                   /usr/bin/as say\n\
            55e1f000-55e20000 r--p 00015000 fe:00 10010661                   /usr/bin/as say\n\
            55e20000-55e21000 rwxp 00015000 fe:00 10010661                   /usr/bin/as say\n\
            7f00a000-7f00c000 r-xp 00002000 fe:00 20010661                   /lib/libc.so.6\n\
            7fff0000-7fff2000 r-xp 00000000 00:00 0                          [vdso]\n\
            nonsense\n";
        assert_eq!(texts(maps, "/usr/bin/as say"), [(0x55e0_c000, 0x13000)]);
    }

    #[test]
    fn the_program_goes_on_after_its_text_is_given_back() {
        give_back();
        let sum: u64 = (1..=10).sum();
        assert_eq!(sum, 55);
    }
}
