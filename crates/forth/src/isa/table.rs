//! The rows.

macro_rules! for_each_word {
    ($expand:ident) => {
        $expand! {
            // variant      code word      group        pops pushes operands  doc
            Literal         0   "literal"  Control      0 1 1 "push the number that follows";
            Halt            1   "halt"     Control      0 0 0 "stop with the error `user halt`";
            Pause           2   "pause"    Control      0 0 0 "return to the caller; `resume` goes on after it";
            If              3   "if"       Control      1 0 1 "run the body when the top is not zero";
            IfElse          4   "else"     Control      1 0 2 "run one of two bodies";
            CaseTable       5   "case"     Control      1 0 2 "run one of the bodies for 0, 1, 2, … or the default";
            Do              6   "do"       Control      2 0 1 "count from start (top) up to stop, by one";
            DoStep          7   "+loop"    Control      2 0 1 "count from start (top) up to stop, by the popped step";
            Again           8   "again"    Control      0 0 0 "repeat the preceding call for ever";
            Until           9   "until"    Control      1 0 0 "repeat the preceding call until it leaves a true flag";
            While           10  "while"    Control      1 0 1 "run the body and the preceding call while the flag is true";
            Exit            11  "exit"     Control      0 0 1 "leave the current word";
            Put             12  "!"        Variable     1 0 1 "store into a variable";
            Increment       13  "+!"       Variable     1 0 1 "add to a variable, wrapping";
            Fetch           14  "@"        Variable     0 1 1 "push the value of a variable";
            Enum            15  "enum"     Input        0 1 3 "consume the first string that matches; push its number or -1";
            EnumOnly        16  "enumonly" Input        0 1 3 "as `enum`, but no match is an error";
            Peek            17  "peek"     Input        1 1 1 "the byte at the popped distance, without moving";
            LenInput        18  "len"      Input        0 1 1 "length of the input in bytes";
            Position        19  "pos"      Input        0 1 1 "position in the input in bytes";
            End             20  "end"      Input        0 1 1 "true when the position is at the end";
            Seek            21  "seek"     Input        1 0 1 "go to a position";
            Skip            22  "skip"     Input        1 0 1 "move by a distance, which may be negative";
            SkipSpace       23  "skipws"   Input        0 0 1 "move past space, tab, line feed and carriage return";
            Write           24  "<-"       OutputStack  1 0 1 "append the top to an output";
            WriteAdd        25  "+<-"      OutputStack  1 0 1 "append the last item plus the top";
            WriteDup        26  "dup"      Output       1 0 1 "append the last item n more times";
            LenOutput       27  "len"      Output       0 1 1 "items in the output";
            Rewind          28  "rewind"   Output       1 0 1 "forget the last n items";
            String          29  "s\""      Text         0 2 1 "push the number and the length of a string";
            PrintString     30  ".\""      Text         0 0 1 "print a string";
            Print           31  "."        Generic      1 0 0 "print a number and a space";
            PrintNewline    32  "cr"       Generic      0 0 0 "print a newline";
            PrintStack      33  ".s"       Generic      0 0 0 "print the whole stack";
            IndexI          34  "i"        Generic      0 1 0 "index of the innermost `do` loop";
            IndexJ          35  "j"        Generic      0 1 0 "index of the next `do` loop";
            IndexK          36  "k"        Generic      0 1 0 "index of the third `do` loop";
            Dup             37  "dup"      Generic      1 2 0 "a -- a a";
            Drop            38  "drop"     Generic      1 0 0 "a --";
            Swap            39  "swap"     Generic      2 2 0 "a b -- b a";
            Over            40  "over"     Generic      2 3 0 "a b -- a b a";
            Rot             41  "rot"      Generic      3 3 0 "a b c -- b c a";
            Nip             42  "nip"      Generic      2 1 0 "a b -- b";
            Tuck            43  "tuck"     Generic      2 3 0 "a b -- b a b";
            Add             44  "+"        Generic      2 1 0 "wrapping sum";
            Sub             45  "-"        Generic      2 1 0 "wrapping difference";
            Mul             46  "*"        Generic      2 1 0 "wrapping product";
            Div             47  "/"        Generic      2 1 0 "floor division";
            Mod             48  "mod"      Generic      2 1 0 "remainder of floor division";
            DivMod          49  "/mod"     Generic      2 2 0 "remainder below, quotient on top";
            Negate          50  "negate"   Generic      1 1 0 "wrapping negation";
            AddOne          51  "1+"       Generic      1 1 0 "add one, wrapping";
            SubOne          52  "1-"       Generic      1 1 0 "subtract one, wrapping";
            Abs             53  "abs"      Generic      1 1 0 "absolute value; the smallest number stays";
            Min             54  "min"      Generic      2 1 0 "the smaller";
            Max             55  "max"      Generic      2 1 0 "the larger";
            Eq              56  "="        Generic      2 1 0 "flag: equal";
            Ne              57  "<>"       Generic      2 1 0 "flag: not equal";
            Gt              58  ">"        Generic      2 1 0 "flag: greater";
            Ge              59  ">="       Generic      2 1 0 "flag: greater or equal";
            Lt              60  "<"        Generic      2 1 0 "flag: less";
            Le              61  "<="       Generic      2 1 0 "flag: less or equal";
            EqZero          62  "0="       Generic      1 1 0 "flag: zero";
            Invert          63  "invert"   Generic      1 1 0 "bitwise not";
            And             64  "and"      Generic      2 1 0 "bitwise and";
            Or              65  "or"       Generic      2 1 0 "bitwise or";
            Xor             66  "xor"      Generic      2 1 0 "bitwise exclusive or";
            ShiftLeft       67  "lshift"   Generic      2 1 0 "shift left; count modulo the width";
            ShiftRight      68  "rshift"   Generic      2 1 0 "arithmetic shift right; count modulo the width";
            False           69  "false"    Generic      0 1 0 "push 0";
            True            70  "true"     Generic      0 1 0 "push -1";
        }
    };
}

macro_rules! for_each_syntax {
    ($expand:ident) => {
        $expand! {
            Open "(" "begin a comment"; Close ")" "end a comment"; LineComment "\\" "comment to the end of the line";
            Define ":" "begin the definition of a word"; EndDefine ";" "end a definition";
            Recurse "recurse" "call the word being defined"; Variable "variable" "declare a variable";
            Input "input" "declare an input"; Output "output" "declare an output and its dtype";
            Then "then" "end of `if`"; Of "of" "end of a predicate"; EndOf "endof" "end of a consequent";
            EndCase "endcase" "end of `case`"; Loop "loop" "end of `do`"; Begin "begin" "head of an indefinite loop";
            Repeat "repeat" "end of `begin … while`"; Stack "stack" "the data stack as source or destination";
        }
    };
}

macro_rules! for_each_parser {
    ($expand:ident) => {
        $expand! {
            // variant k  text        bytes doc
            Bool       1  "?"         1 "one byte as a truth value";
            Int8       2  "b"         1 "signed, 1 byte";
            Int16      3  "h"         2 "signed, 2 bytes";
            Int32      4  "i"         4 "signed, 4 bytes";
            Int64      5  "q"         8 "signed, 8 bytes";
            IntPtr     6  "n"         8 "signed, 8 bytes";
            UInt8      7  "B"         1 "unsigned, 1 byte";
            UInt16     8  "H"         2 "unsigned, 2 bytes";
            UInt32     9  "I"         4 "unsigned, 4 bytes";
            UInt64     10 "Q"         8 "unsigned, 8 bytes";
            UIntPtr    11 "N"         8 "unsigned, 8 bytes";
            Float32    12 "f"         4 "IEEE, 4 bytes";
            Float64    13 "d"         8 "IEEE, 8 bytes";
            VarInt     14 "varint"    0 "unsigned LEB128";
            ZigZag     15 "zigzag"    0 "signed LEB128, zigzag";
            NBit       16 "bit"       0 "packed unsigned integers, lowest bits first";
            TextInt    17 "textint"   0 "ASCII integer";
            TextFloat  18 "textfloat" 0 "ASCII number";
            QuotedStr  19 "quotedstr" 0 "JSON-like string; its length is pushed";
            MsbBits    20 "msb"       0 "packed unsigned integers, highest bits first (ours)";
        }
    };
}

macro_rules! for_each_bulk {
    ($expand:ident) => {
        $expand! {
            // variant k  text       pops pushes doc
            Rle     21 "rle->"     1 0 "run-length/bit-packed hybrid, as in Parquet";
            Offsets 22 "offsets->" 4 1 "repetition and definition levels to offsets of lists";
            Valid   23 "valid->"   4 1 "repetition and definition levels to validity";
            Index   24 "index->"   5 1 "repetition and definition levels to an index, -1 where there is nothing";
        }
    };
}
