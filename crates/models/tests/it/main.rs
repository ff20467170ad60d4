//! Models, asked over real connections.
