"""Reading a condensed tree: questions, rules, paths, pictures."""
