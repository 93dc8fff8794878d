//! The rows of the table. An example is a program that ends in a comment: its inputs, `=>`, and its results,
//! in the notation of the [manual](crate::manual). Tests run each of them in every tier.

macro_rules! for_each_word {
    ($expand:ident) => {
        $expand! {
            // variant      code word      group        pops pushes operands  one line / stack effect / more /
            // example
            Literal         0   "literal"  Control      0 1 1 "push the number that follows"
                "( -- n )" "An integer in the text: decimal with an optional sign, or hexadecimal behind `0x`. It is cut to 32 bits, in machines of either width, unless the program is compiled with literals of 64 bits."
                r"12 -7 0xff \ => 12 -7 255";
            Halt            1   "halt"     Control      0 0 0 "stop with the error `user halt`"
                "( -- )" "The stack stays as it is: by convention its top says what was wrong. The machine must `begin` again."
                r"3 halt \ => 3 ; error user halt";
            Pause           2   "pause"    Control      0 0 0 "return to the caller; `resume` goes on after it"
                "( -- )" "Everything is kept. The caller may look, push, pop and give other inputs before it resumes. As the very last instruction it ends the program."
                r"1 pause 2 \ => 1 ; paused";
            If              3   "if"       Control      1 0 1 "run the body when the top is not zero"
                "( flag -- )" "Written `if … then`."
                r"5 1 if negate then  7 0 if negate then \ => -5 7";
            IfElse          4   "else"     Control      1 0 2 "run one of two bodies"
                "( flag -- )" "Written `if … else … then`: the first when the top is not zero, else the second."
                r"1 if 10 else 20 then  0 if 10 else 20 then \ => 10 20";
            CaseTable       5   "case"     Control      1 0 2 "run one of the bodies for 0, 1, 2, … or the default"
                "( n -- )" "Written `case P of … endof P of … endof DEFAULT endcase`. The item is compared with what each predicate `P` leaves, in order; the consequent of the first that is equal runs, without the item. The default runs with the item on top, and the top is dropped at its end: a default that leaves something ends in `swap`. Predicates that are exactly `0`, `1`, `2`, … are a table and take the same time however many they are."
                r": name case 0 of 100 endof 1 of 101 endof 999 swap endcase ;
1 name  7 name \ => 101 999";
            Do              6   "do"       Control      2 0 1 "count from start (top) up to stop, by one"
                "( stop start -- )" "Written `do … loop`. The index is compared before each pass, so there is no pass when start is not below stop. Index and limit have 64 bits in machines of either width."
                r"4 0 do i loop  0 4 do i loop \ => 0 1 2 3";
            DoStep          7   "+loop"    Control      2 0 1 "count from start (top) up to stop, by the popped step"
                "( stop start -- ) and ( step -- ) at the end of each pass" "Written `do … +loop`. The test is `index >= stop` whatever the sign of the step: it does not count down."
                r"10 0 do i 4 +loop \ => 0 4 8";
            Again           8   "again"    Control      0 0 0 "repeat the preceding call for ever"
                "( -- )" "Written `begin … again`. `exit`, `halt`, `pause` or an error leave it."
                r": count 0 begin 1+ dup 5 = if exit then again ;
count \ => 5";
            Until           9   "until"    Control      1 0 0 "repeat the preceding call until it leaves a true flag"
                "( flag -- )" "Written `begin … until`. The body runs at least once."
                r"1 begin 2 * dup 100 > until \ => 128";
            While           10  "while"    Control      1 0 1 "run the body and the preceding call while the flag is true"
                "( flag -- )" "Written `begin TEST while BODY repeat`."
                r"1 5 begin dup while swap over * swap 1- repeat drop \ => 120";
            Exit            11  "exit"     Control      0 0 1 "leave the current word"
                "( -- )" "From any depth of structures in it, whose `do` loops end; loops of the caller go on. In the main program it ends the program."
                r": first-even begin dup 2 mod 0= if exit then 1+ again ;
7 first-even \ => 8";
            Put             12  "!"        Variable     1 0 1 "store into a variable"
                "( n -- )" ""
                r"variable v  5 v !  v @ \ => 5 ; v = 5";
            Increment       13  "+!"       Variable     1 0 1 "add to a variable, wrapping"
                "( n -- )" ""
                r"variable v  5 v !  2 v +! \ => ; v = 7";
            Fetch           14  "@"        Variable     0 1 1 "push the value of a variable"
                "( -- n )" "Variables are 0 when a run begins."
                r"variable v  v @ \ => 0";
            Enum            15  "enum"     Input        0 1 3 "consume the first string that matches; push its number or -1"
                "( -- n )" r#"One or more strings `s" …"` follow. They are compared in order with what stands at the position, and the first that is a prefix of it is consumed: write longer strings first. No match, or the end of the input, is -1, and nothing is consumed."#
                r#"input x  x enum s" true" s" false"  x enum s" ," s" ;"
\ x: "false]" => 1 -1 ; x at 5"#;
            EnumOnly        16  "enumonly" Input        0 1 3 "as `enum`, but no match is an error"
                "( -- n )" "The error is *enumeration missing*."
                r#"input x  x enumonly s" true" s" false"
\ x: "null" => ; error enumeration missing"#;
            Peek            17  "peek"     Input        1 1 1 "the byte at the popped distance, without moving"
                "( n -- byte )" "0 is the next byte. A distance below 0, or beyond the end, is *read beyond*."
                r"input x  0 x peek  2 x peek  x pos \ x: 0a 0b 0c => 10 12 0";
            LenInput        18  "len"      Input        0 1 1 "length of the input in bytes"
                "( -- n )" ""
                r"input x  x len \ x: 0a 0b 0c => 3";
            Position        19  "pos"      Input        0 1 1 "position in the input in bytes"
                "( -- n )" ""
                r"input x  2 x skip  x pos \ x: 0a 0b 0c => 2";
            End             20  "end"      Input        0 1 1 "true when the position is at the end"
                "( -- flag )" ""
                r"input x  x end  3 x skip  x end \ x: 0a 0b 0c => 0 -1";
            Seek            21  "seek"     Input        1 0 1 "go to a position"
                "( n -- )" "From the beginning. Outside of 0 … `len` it is *seek beyond*, and the position stays."
                r"input x  1 x seek  x B-> stack \ x: 0a 0b 0c => 11 ; x at 2";
            Skip            22  "skip"     Input        1 0 1 "move by a distance, which may be negative"
                "( n -- )" "Outside of the input it is *skip beyond*, and the position stays."
                r"input x  3 x skip  -1 x skip  x B-> stack \ x: 0a 0b 0c => 12";
            SkipSpace       23  "skipws"   Input        0 0 1 "move past space, tab, line feed and carriage return"
                "( -- )" ""
                r#"input x  x skipws  x pos \ x: "  {" => 2"#;
            Write           24  "<-"       OutputStack  1 0 1 "append the top to an output"
                "( n -- )" "Written `OUT <- stack`. The item is converted to the dtype of the output."
                r"output y int8  300 y <- stack  -1 y <- stack \ => ; y: 44 -1";
            WriteAdd        25  "+<-"      OutputStack  1 0 1 "append the last item plus the top"
                "( n -- )" "Written `OUT +<- stack`. To an output without items, 0 is added. The sum has the dtype of the output; for `bool` it is *or*. This makes offsets of counts."
                r"output y int64  0 y <- stack  3 y +<- stack  0 y +<- stack  2 y +<- stack \ => ; y: 0 3 3 5";
            WriteDup        26  "dup"      Output       1 0 1 "append the last item n more times"
                "( n -- )" "Written `OUT dup`. Without a last item it is *rewind beyond*; n ≤ 0 appends nothing."
                r"output y int64  7 y <- stack  3 y dup \ => ; y: 7 7 7 7";
            LenOutput       27  "len"      Output       0 1 1 "items in the output"
                "( -- n )" "Written `OUT len`."
                r"output y int64  7 y <- stack  y len \ => 1 ; y: 7";
            Rewind          28  "rewind"   Output       1 0 1 "forget the last n items"
                "( n -- )" "Written `OUT rewind`. More than there are, or a negative number, is *rewind beyond*."
                r"output y int64  1 y <- stack  2 y <- stack  1 y rewind \ => ; y: 1";
            String          29  "s\""      Text         0 2 1 "push the number and the length of a string"
                "( -- id length )" r#"Written `s" text"`: one space, the text, a quote; `\"` is a quote in the text. Strings are numbered in order of appearance in the program, those of `enum` included; the caller gets the text by its number."#
                r#"s" hello"  s" hi" \ => 0 5 1 2"#;
            PrintString     30  ".\""      Text         0 0 1 "print a string"
                "( -- )" r#"Written `." text"`."#
                r#"." hello" \ => ; prints hello"#;
            Print           31  "."        Generic      1 0 0 "print a number and a space"
                "( n -- )" ""
                r"6 7 * . \ => ; prints 42 ";
            PrintNewline    32  "cr"       Generic      0 0 0 "print a newline"
                "( -- )" ""
                r"1 . cr 2 . \ => ; prints 1 ⏎2 ";
            PrintStack      33  ".s"       Generic      0 0 0 "print the whole stack"
                "( -- )" "Its depth, then all items, bottom first. Nothing is popped."
                r"5 6 .s \ => 5 6 ; prints <2> 5 6 <- top ";
            IndexI          34  "i"        Generic      0 1 0 "index of the innermost `do` loop"
                "( -- n )" "Which loop is meant is decided by the text: `i` stands inside a `do` of the same definition. A word called from the loop cannot use it."
                r"3 0 do i loop \ => 0 1 2";
            IndexJ          35  "j"        Generic      0 1 0 "index of the next `do` loop"
                "( -- n )" "Inside two loops of the same definition."
                r"2 0 do 20 18 do j i loop loop \ => 0 18 0 19 1 18 1 19";
            IndexK          36  "k"        Generic      0 1 0 "index of the third `do` loop"
                "( -- n )" "Inside three loops of the same definition."
                r"2 0 do 1 0 do 1 0 do k loop loop loop \ => 0 1";
            Dup             37  "dup"      Generic      1 2 0 "copy the top"
                "( a -- a a )" ""
                r"7 dup \ => 7 7";
            Drop            38  "drop"     Generic      1 0 0 "forget the top"
                "( a -- )" ""
                r"7 8 drop \ => 7";
            Swap            39  "swap"     Generic      2 2 0 "exchange the two topmost items"
                "( a b -- b a )" ""
                r"7 8 swap \ => 8 7";
            Over            40  "over"     Generic      2 3 0 "copy the item below the top"
                "( a b -- a b a )" ""
                r"7 8 over \ => 7 8 7";
            Rot             41  "rot"      Generic      3 3 0 "bring the third item to the top"
                "( a b c -- b c a )" ""
                r"7 8 9 rot \ => 8 9 7";
            Nip             42  "nip"      Generic      2 1 0 "forget the item below the top"
                "( a b -- b )" ""
                r"7 8 nip \ => 8";
            Tuck            43  "tuck"     Generic      2 3 0 "copy the top below the item under it"
                "( a b -- b a b )" ""
                r"7 8 tuck \ => 8 7 8";
            Add             44  "+"        Generic      2 1 0 "wrapping sum"
                "( a b -- a+b )" ""
                r"40 2 + \ => 42";
            Sub             45  "-"        Generic      2 1 0 "wrapping difference"
                "( a b -- a-b )" ""
                r"40 2 - \ => 38";
            Mul             46  "*"        Generic      2 1 0 "wrapping product"
                "( a b -- a*b )" ""
                r"6 -7 * \ => -42";
            Div             47  "/"        Generic      2 1 0 "floor division"
                "( a b -- quotient )" "Rounds down, also below zero. By 0 it is *division by zero*; the smallest number by -1 wraps to itself."
                r"7 2 /  -7 2 / \ => 3 -4";
            Mod             48  "mod"      Generic      2 1 0 "remainder of floor division"
                "( a b -- remainder )" "Has the sign of the divisor."
                r"7 2 mod  -7 2 mod  7 -2 mod \ => 1 1 -1";
            DivMod          49  "/mod"     Generic      2 2 0 "remainder below, quotient on top"
                "( a b -- remainder quotient )" ""
                r"-7 2 /mod \ => 1 -4";
            Negate          50  "negate"   Generic      1 1 0 "wrapping negation"
                "( a -- -a )" ""
                r"5 negate \ => -5";
            AddOne          51  "1+"       Generic      1 1 0 "add one, wrapping"
                "( a -- a+1 )" ""
                r"5 1+ \ => 6";
            SubOne          52  "1-"       Generic      1 1 0 "subtract one, wrapping"
                "( a -- a-1 )" ""
                r"5 1- \ => 4";
            Abs             53  "abs"      Generic      1 1 0 "absolute value; the smallest number stays"
                "( a -- |a| )" ""
                r"-5 abs  5 abs \ => 5 5";
            Min             54  "min"      Generic      2 1 0 "the smaller"
                "( a b -- n )" ""
                r"-3 2 min \ => -3";
            Max             55  "max"      Generic      2 1 0 "the larger"
                "( a b -- n )" ""
                r"-3 2 max \ => 2";
            Eq              56  "="        Generic      2 1 0 "flag: equal"
                "( a b -- flag )" "A flag is -1 (true) or 0 (false); wherever one is popped, everything but 0 is true."
                r"3 3 =  3 4 = \ => -1 0";
            Ne              57  "<>"       Generic      2 1 0 "flag: not equal"
                "( a b -- flag )" ""
                r"3 3 <>  3 4 <> \ => 0 -1";
            Gt              58  ">"        Generic      2 1 0 "flag: greater"
                "( a b -- flag )" ""
                r"4 3 >  3 3 > \ => -1 0";
            Ge              59  ">="       Generic      2 1 0 "flag: greater or equal"
                "( a b -- flag )" ""
                r"3 3 >=  2 3 >= \ => -1 0";
            Lt              60  "<"        Generic      2 1 0 "flag: less"
                "( a b -- flag )" ""
                r"-1 3 <  3 3 < \ => -1 0";
            Le              61  "<="       Generic      2 1 0 "flag: less or equal"
                "( a b -- flag )" ""
                r"3 3 <=  4 3 <= \ => -1 0";
            EqZero          62  "0="       Generic      1 1 0 "flag: zero"
                "( a -- flag )" "This is how flags are negated."
                r"0 0=  7 0= \ => -1 0";
            Invert          63  "invert"   Generic      1 1 0 "bitwise not"
                "( a -- b )" ""
                r"0 invert  5 invert \ => -1 -6";
            And             64  "and"      Generic      2 1 0 "bitwise and"
                "( a b -- c )" ""
                r"6 3 and \ => 2";
            Or              65  "or"       Generic      2 1 0 "bitwise or"
                "( a b -- c )" ""
                r"6 3 or \ => 7";
            Xor             66  "xor"      Generic      2 1 0 "bitwise exclusive or"
                "( a b -- c )" ""
                r"6 3 xor \ => 5";
            ShiftLeft       67  "lshift"   Generic      2 1 0 "shift left; count modulo the width"
                "( a n -- b )" ""
                r"3 4 lshift \ => 48";
            ShiftRight      68  "rshift"   Generic      2 1 0 "arithmetic shift right; count modulo the width"
                "( a n -- b )" "The sign stays (Standard Forth shifts zeros in)."
                r"48 4 rshift  -8 1 rshift \ => 3 -4";
            False           69  "false"    Generic      0 1 0 "push 0"
                "( -- 0 )" ""
                r"false \ => 0";
            True            70  "true"     Generic      0 1 0 "push -1"
                "( -- -1 )" ""
                r"true \ => -1";
        }
    };
}

macro_rules! for_each_syntax {
    ($expand:ident) => {
        $expand! {
            // variant word, one line, example
            Open "(" "begin a comment, which ends at the balancing `)`; both stand alone"
                r"1 ( one ( and a half ) ) 2 \ => 1 2";
            Close ")" "end a comment"
                r"1 ( ) 2 \ => 1 2";
            LineComment "\\" "comment to the end of the line"
                r"1 \ and this is not read
2 \ => 1 2";
            Define ":" "begin the definition of a word: `: NAME … ;`"
                r": twice dup + ;  21 twice \ => 42";
            EndDefine ";" "end a definition"
                r": nothing ;  nothing \ =>";
            Recurse "recurse" "call the word being defined, which may also be called by its name"
                r": sum dup if dup 1- recurse + then ;  4 sum \ => 10";
            Variable "variable" "declare a variable: `variable NAME`"
                r"variable v  9 v !  v @ \ => 9";
            Input "input" "declare an input: `input NAME`"
                r"input x  x len \ x: 01 02 => 2";
            Output "output" "declare an output and its dtype: `output NAME DTYPE`"
                r"output y float64  1 y <- stack \ => ; y: 1";
            Then "then" "end of `if`"
                r"1 if 5 then \ => 5";
            Of "of" "end of a predicate of `case`"
                r"8 case 8 of 80 endof endcase \ => 80";
            EndOf "endof" "end of a consequent of `case`"
                r"8 case 7 of 70 endof 8 of 80 endof endcase \ => 80";
            EndCase "endcase" "end of `case`, which drops the top of the default"
                r"5 case 0 of 1 endof endcase \ =>";
            Loop "loop" "end of `do`"
                r"3 0 do i loop \ => 0 1 2";
            Begin "begin" "head of an indefinite loop: `begin … again`, `begin … until` or `begin … while … repeat`"
                r"3 begin 1- dup 0= until \ => 0";
            Repeat "repeat" "end of `begin … while`"
                r"3 begin dup while 1- repeat \ => 0";
            Stack "stack" "the data stack as source or destination"
                r"input x  output y int8  x b-> stack  y <- stack \ x: ff => ; y: -1";
        }
    };
}

macro_rules! for_each_parser {
    ($expand:ident) => {
        $expand! {
            // variant k  text        bytes, one line, more, example
            Bool       1  "?"         1 "one byte as a truth value"
                "In an output of `bool` it becomes 0 or 1; on the stack and in other outputs it is the byte."
                r"input x  output y bool  3 x #?-> y \ x: 00 01 ff => ; y: 0 1 1";
            Int8       2  "b"         1 "signed, 1 byte" ""
                r"input x  x b-> stack  x b-> stack \ x: 7f ff => 127 -1";
            Int16      3  "h"         2 "signed, 2 bytes" ""
                r"input x  x h-> stack  x !h-> stack \ x: 01 ff 01 ff => -255 511";
            Int32      4  "i"         4 "signed, 4 bytes" ""
                r"input x  output y int64  2 x #!i-> y \ x: 00 00 00 07 ff ff ff fe => ; y: 7 -2";
            Int64      5  "q"         8 "signed, 8 bytes" "A machine of 32 bits keeps the low half on its stack."
                r"input x  x q-> stack \ x: fe ff ff ff ff ff ff ff => -2";
            IntPtr     6  "n"         8 "signed, 8 bytes" "The same as `q`, on every platform."
                r"input x  x n-> stack \ x: fe ff ff ff ff ff ff ff => -2";
            UInt8      7  "B"         1 "unsigned, 1 byte" ""
                r"input x  x B-> stack  x B-> stack \ x: 7f ff => 127 255";
            UInt16     8  "H"         2 "unsigned, 2 bytes" ""
                r"input x  x H-> stack  x !H-> stack \ x: 01 ff 01 ff => 65281 511";
            UInt32     9  "I"         4 "unsigned, 4 bytes" ""
                r"input x  output y uint32  x !I-> y \ x: ff ff ff fe => ; y: 4294967294";
            UInt64     10 "Q"         8 "unsigned, 8 bytes" "On the stack of 64 bits, 2⁶³ and more become negative."
                r"input x  output y uint64  x Q-> y \ x: fe ff ff ff ff ff ff ff => ; y: 18446744073709551614";
            UIntPtr    11 "N"         8 "unsigned, 8 bytes" "The same as `Q`, on every platform."
                r"input x  x N-> stack \ x: 02 00 00 00 00 00 00 00 => 2";
            Float32    12 "f"         4 "IEEE, 4 bytes" "On the stack, fractions are cut off."
                r"input x  output y float32  x !f-> y  0 x seek  x !f-> stack \ x: c0 20 00 00 => -2 ; y: -2.5";
            Float64    13 "d"         8 "IEEE, 8 bytes" "On the stack, fractions are cut off."
                r"input x  output y float64  x d-> y \ x: 00 00 00 00 00 00 04 40 => ; y: 2.5";
            VarInt     14 "varint"    0 "unsigned LEB128"
                "Seven bits a byte, lowest first, up to ten bytes; what does not fit 64 bits is *varint too big*."
                r"input x  x varint-> stack  x varint-> stack \ x: 05 ac 02 => 5 300";
            ZigZag     15 "zigzag"    0 "signed LEB128, zigzag"
                "The lowest bit is the sign: 0, -1, 1, -2, … This is how Avro stores integers and counts."
                r"input x  4 x #zigzag-> stack \ x: 00 01 02 03 => 0 -1 1 -2";
            NBit       16 "bit"       0 "packed unsigned integers, lowest bits first"
                "The number of bits, 1 to 64, stands before it: `3bit->`. Items follow each other across bytes; a byte used in part counts as consumed at the end of the word. With `!`, the bits of every byte are reversed first."
                r"input x  8 x #3bit-> stack  x pos \ x: 88 c6 fa => 0 1 2 3 4 5 6 7 3";
            TextInt    17 "textint"   0 "ASCII integer"
                "An optional `-` and digits. Behind `#`, white space is skipped between items. No digit is *text number missing*, at the end of the input *read beyond*; what does not fit 64 bits is *varint too big*."
                r#"input x  3 x #textint-> stack \ x: "12 -3 456," => 12 -3 456"#;
            TextFloat  18 "textfloat" 0 "ASCII number"
                "As `textint`, with an optional fraction and exponent; correctly rounded. Only to outputs."
                r#"input x  output y float64  2 x #textfloat-> y \ x: "0.5 -2e3" => ; y: 0.5 -2000"#;
            QuotedStr  19 "quotedstr" 0 "JSON-like string; its length is pushed"
                r#"In double quotes, with the escapes `\n \r \t \b \f \" \/ \\ \uXXXX`; to outputs of `uint8` or `int8`, in UTF-8. The number of bytes is pushed. What is not well-formed, or longer than a limit of the machine, is *quoted string missing*."#
                r#"input x  output y uint8  x quotedstr-> y \ x: 22 41 5c 6e 22 => 2 ; y: 65 10"#;
            MsbBits    20 "msb"       0 "packed unsigned integers, highest bits first (ours)"
                "As `bit`, but items are packed from the highest bit of each byte on, as in network protocols and bitmaps: `4msb->` of the byte `b0` is 11 (`!4bit->` would be 13, bit-reversed)."
                r"input x  2 x #4msb-> stack \ x: b0 => 11 0";
        }
    };
}
