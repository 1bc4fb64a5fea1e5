//! The screen: a pure core (`app`), its drawing (`view`) and the loop that connects both to the terminal.
