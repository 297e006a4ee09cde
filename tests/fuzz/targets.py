"""All targets, by name."""

from tests.fuzz import answers, lake_files, raw_files, state_files

TARGETS = {
    target.name: target
    for module in (answers, raw_files, lake_files, state_files)
    for target in module.TARGETS
}
