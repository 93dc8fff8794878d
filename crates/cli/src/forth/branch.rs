//! `forthwith forth`: the program that decodes a branch.

use crate::{
    console::Console,
    failure::{Failure, Result},
    opened::Place,
    survey::{Branch, Means},
};
use forthwith::{
    forth::Compiled,
    plan::{Decoder, Error},
};

pub(crate) fn forth(place: &Place, explain: bool, console: &mut Console<'_>) -> Result<()> {
    let table = &place.table;
    let Some(index) = place.branch else {
        return Err(place.which_branch());
    };
    let fields = table.fields()?;
    let branch = Branch::of(table, index, &fields[index as usize]);
    if branch.means() == Means::Group {
        let members = fields.iter().filter(|f| f.parent == Some(index)).map(|f| f.path.clone()).collect();
        return Err(Failure::Group { branch: branch.field.path, members });
    }
    let reading = match table.describe(index)?.reading {
        Ok(reading) => reading,
        Err(why) => {
            let object = match table.path() {
                "" => branch.field.path,
                tree => format!("{tree}/{}", branch.field.path),
            };
            return Err(Error::unsupported(why).in_file(table.file().uri()).in_object(&object).into());
        }
    };
    let Decoder::Program(program) = &reading.decoder else {
        let why = format!("{} ({})", reading.decoder.kind(), reading.reason);
        return Err(Failure::NoProgram { branch: branch.field.path, why });
    };
    console.line(program.source.trim_end())?;
    if explain {
        let compiled = Compiled::new(&program.source).map_err(Error::new)?;
        console.text(&comments(&compiled.explain()))?;
    }
    Ok(())
}

/// Formats text as Forth comments, so that the output is a valid program.
fn comments(text: &str) -> String {
    text.lines().map(|line| format!("\\ {line}").trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn explanations_are_comments() {
        assert_eq!(super::comments("a\n\nb\n"), "\\ a\n\\\n\\ b\n");
    }
}
