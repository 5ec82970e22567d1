// Marks the root of the module; each minor builds with its own modfile.
module oracle

go 1.26.0
