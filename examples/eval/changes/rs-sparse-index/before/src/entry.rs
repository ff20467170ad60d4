/// An index entry: the first message of a block and the block's place in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub first_offset: u64,
    pub position: u64,
}
