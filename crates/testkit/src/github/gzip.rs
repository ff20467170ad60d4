//! Opens what was packed with gzip: [`open`].
//!
//! An upload is looked at as the real service does, its checksum included, and by other code than
//! that which packed it.

/// Gives what was packed; none if it is not gzip, broken or more than a limit.
pub(super) fn open(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let head: &[u8; 10] = packed.first_chunk()?;
    if head[..3] != [0x1f, 0x8b, 8] {
        return None;
    }
    let flags = head[3];
    let mut rest = &packed[10..];
    if flags & 4 != 0 {
        let length = usize::from(u16::from_le_bytes(*rest.first_chunk()?));
        rest = rest.get(2 + length..)?;
    }
    for text in [8, 16] {
        if flags & text != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    let (bytes, tail) = inflate(rest, most)?;
    let checksum = u32::from_le_bytes(*tail.first_chunk()?);
    let length = u32::from_le_bytes(*tail.get(4..)?.first_chunk()?);
    (checksum == crc32(&bytes) && length == bytes.len() as u32).then_some(bytes)
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    };
    !bytes.iter().fold(!0, step)
}

/// Bits, the lowest of a byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn bit(&mut self) -> Option<usize> {
        let byte = *self.bytes.get(self.at / 8)?;
        let bit = byte >> (self.at % 8) & 1;
        self.at += 1;
        Some(usize::from(bit))
    }

    fn take(&mut self, count: usize) -> Option<usize> {
        (0..count).try_fold(0, |sum, place| Some(sum | self.bit()? << place))
    }
}

/// A code, as how many words there are of each length and which they are.
struct Code {
    counts: [usize; 16],
    words: Vec<usize>,
}

impl Code {
    fn new(lengths: &[usize]) -> Code {
        let mut counts = [0; 16];
        lengths.iter().for_each(|length| counts[*length] += 1);
        counts[0] = 0;
        let mut words: Vec<usize> = (0..lengths.len()).filter(|it| lengths[*it] > 0).collect();
        words.sort_by_key(|word| lengths[*word]);
        Code { counts, words }
    }

    fn read(&self, bits: &mut Bits<'_>) -> Option<usize> {
        let (mut code, mut first, mut index) = (0, 0, 0);
        for count in &self.counts[1..] {
            code |= bits.bit()?;
            if code < first + count {
                return self.words.get(index + code - first).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

fn inflate(packed: &[u8], most: usize) -> Option<(Vec<u8>, &[u8])> {
    let mut bits = Bits { bytes: packed, at: 0 };
    let mut out = Vec::new();
    loop {
        let is_last = bits.bit()? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out)?,
            1 => {
                let lengths: Vec<usize> =
                    [(8, 144), (9, 112), (7, 24), (8, 8)].map(|(it, n)| vec![it; n]).concat();
                blocks(&mut bits, &mut out, &Code::new(&lengths), &Code::new(&[5; 30]), most)?;
            }
            2 => {
                let (literals, distances) = codes(&mut bits)?;
                blocks(&mut bits, &mut out, &literals, &distances, most)?;
            }
            _ => return None,
        }
        if out.len() > most {
            return None;
        }
        if is_last {
            return Some((out, packed.get(bits.at.div_ceil(8)..)?));
        }
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>) -> Option<()> {
    bits.at = bits.at.next_multiple_of(8);
    let (length, inverse) = (bits.take(16)?, bits.take(16)?);
    if length != !inverse & 0xffff {
        return None;
    }
    let start = bits.at / 8;
    out.extend_from_slice(bits.bytes.get(start..start + length)?);
    bits.at += length * 8;
    Some(())
}

/// Reads the codes that a block brings with it.
fn codes(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let (literals, distances) = (bits.take(5)? + 257, bits.take(5)? + 1);
    let count = bits.take(4)? + 4;
    let mut lengths = [0; 19];
    for place in &ORDER[..count] {
        lengths[*place] = bits.take(3)?;
    }
    let code = Code::new(&lengths);
    let mut lengths = Vec::new();
    while lengths.len() < literals + distances {
        let (length, times) = match code.read(bits)? {
            16 => (*lengths.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (length, 1),
        };
        lengths.extend(std::iter::repeat_n(length, times));
    }
    let (first, second) = lengths.split_at_checked(literals)?;
    Some((Code::new(first), Code::new(second)))
}

fn blocks(
    bits: &mut Bits<'_>,
    out: &mut Vec<u8>,
    literals: &Code,
    distances: &Code,
    most: usize,
) -> Option<()> {
    while out.len() <= most {
        let word = match literals.read(bits)? {
            word @ 0..256 => {
                out.push(word as u8);
                continue;
            }
            256 => return Some(()),
            word => word - 257,
        };
        let length = match word {
            0..8 => 3 + word,
            8..28 => {
                let extra = word / 4 - 1;
                3 + ((4 + word % 4) << extra) + bits.take(extra)?
            }
            28 => 258,
            _ => return None,
        };
        let word = distances.read(bits)?;
        let distance = match word {
            0..4 => 1 + word,
            4..30 => {
                let extra = word / 2 - 1;
                1 + ((2 + word % 2) << extra) + bits.take(extra)?
            }
            _ => return None,
        };
        let start = out.len().checked_sub(distance)?;
        (start..start + length).for_each(|at| out.push(out[at]));
    }
    Some(())
}
