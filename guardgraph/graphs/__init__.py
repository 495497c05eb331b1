"""The grammar, its proof (`verify`) and one builder per pattern that reads like its diagram."""
