//! Taking little room while there is nothing to do: [`give_back`].
//!
//! Most of what a waiting agent seems to hold is program text and tables that were mapped while it
//! began or worked. The kernel has them again at once when they are used, so they are given back.

/// Gives back what is mapped of the program's text and tables, where the system offers that.
#[cfg(target_os = "linux")]
pub(crate) fn give_back() {
    let Ok(program) = std::env::current_exe() else { return };
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for (start, length) in unwritten(&maps, &program.to_string_lossy()) {
        let start = std::ptr::without_provenance_mut(start);
        // SAFETY: the range is text or tables of this program, mapped privately from its file and
        // never written to. Dropping such pages loses nothing: the next use reads the same bytes
        // from the file, which the kernel keeps from being written to while it runs. Where the
        // advice is not taken, all stays as it is.
        #[allow(unsafe_code)]
        let _ = unsafe { rustix::mm::madvise(start, length, rustix::mm::Advice::LinuxDontNeed) };
    }
}

/// Elsewhere nothing is known of it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn give_back() {}

/// Gives start and length of what is mapped of a program and was never written to: its text, and
/// the tables at the beginning of its file. What is read-only further on is not among it, as the
/// loader wrote addresses there before it was.
#[cfg(target_os = "linux")]
fn unwritten(maps: &str, program: &str) -> Vec<(usize, usize)> {
    let range = |line: &str| {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let (may, offset) = (fields.next()?, fields.next()?);
        let is_unwritten = may == "r-xp" || (may == "r--p" && offset == "00000000");
        let is_ours = fields.last()?.trim_start() == program;
        let at = |hex| usize::from_str_radix(hex, 16).ok();
        let (start, end) = (at(start)?, at(end)?);
        (is_unwritten && is_ours).then(|| Some((start, end.checked_sub(start)?)))?
    };
    maps.lines().filter_map(range).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_text_and_tables_of_the_program_itself_are_given_back() {
        let maps = "\
            55e0a000-55e0c000 r--p 00000000 fe:00 10010661                   /usr/bin/as say\n\
            55e0c000-55e1f000 r-xp 00002000 fe:00 10010661                   /usr/bin/as say\n\
            55e1f000-55e20000 r--p 00015000 fe:00 10010661                   /usr/bin/as say\n\
            55e20000-55e21000 rwxp 00015000 fe:00 10010661                   /usr/bin/as say\n\
            7f00a000-7f00c000 r-xp 00002000 fe:00 20010661                   /lib/libc.so.6\n\
            7fff0000-7fff2000 r-xp 00000000 00:00 0                          [vdso]\n\
            nonsense\n";
        let given = [(0x55e0_a000, 0x2000), (0x55e0_c000, 0x13000)];
        assert_eq!(unwritten(maps, "/usr/bin/as say"), given);
    }

    #[test]
    fn the_program_goes_on_after_its_text_is_given_back() {
        give_back();
        let sum: u64 = (1..=10).sum();
        assert_eq!(sum, 55);
    }
}
