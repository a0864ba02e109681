//! Sources and sinks: rows in, tables and model files out.
