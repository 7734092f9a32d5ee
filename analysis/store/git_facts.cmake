# Writes OUT from git_facts.h.in: the commit, and whether tracked files differ from it. Runs at each build, so
# that a result never names a commit it was not made from; configure_file touches OUT only when it changes.
# Without git, or unpacked from an archive (perhaps inside another checkout), the commit stays empty.
set(commit "")
set(changes "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git rev-parse HEAD WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE changes ERROR_QUIET)
endif()
set(dirty false)
if(changes)
  set(dirty true)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/git_facts.h.in ${OUT} @ONLY)
