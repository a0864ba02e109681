//! Reproduction of the tables and figures of the papers.
