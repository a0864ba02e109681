//! Charts as SVG, PNG and self-contained HTML.
