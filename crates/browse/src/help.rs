//! Help page with all keys.

/// Text of the help page.
pub(crate) const KEYS: &str = "\
Everywhere
  ?              this page
  Esc            gives up a read, stops a search or filter, or goes back; Backspace: back
  q, Ctrl-C      leave; marked rows go to standard output as JSON Lines
  R              open the file again
  d              code that reads what is shown: Python, command, Rust
  up down k j    a line; PgUp PgDn Ctrl-B Ctrl-F: a page; g G Home End: the ends
  mouse          a click chooses, a second one opens; the wheel scrolls

Tree
  right left l h open, close
  Enter          the values of a table or column, the members or picture of an object
  t              all columns of the table
  /              filter names while typing: letters in their order, Muon_*, /regex/; Esc ends it
  Space          mark a column: Enter, p and d are about marked columns
  p              histogram of the column, or of two marked ones
  e              how the column is read, and its plan
  f              the AwkwardForth program of the column

Table
  left right h l a column; 0 $: the first, the last
  Enter          the whole value
  /              search in whole values of all columns (that c has left) by regular expression
  n N            the next row found, the previous one
  &              only rows with a text in any of these columns; empty: all rows
  w              only rows where an expression is true; empty: all rows
  :              go to a row by its number, or to a part such as 50%
  c              columns by their names, while typing; =: all columns; -: without this one
  Space          mark the row
  Tab            mark the column: p draws one or two
  p e f          histogram, plan, program

Histogram
  + -            twice or half as many bins; b: their number
  r              range of the axis
  l              logarithmic axis
  w              only entries where an expression is true
  x              exchange the axes of two dimensions
";
