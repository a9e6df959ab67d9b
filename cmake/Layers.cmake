# t3vp_layer(<target>): this folder's headers are "<folder>/<header>.h" to the target and to whoever links it, and to nobody
# else, so that an include against the arrows between libraries does not compile. The include directory holds nothing but
# a link to the folder. A test reads layers.txt, where every layer is listed with what it links.
function(t3vp_layer target)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(root ${PROJECT_BINARY_DIR}/include/${folder})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${folder} SYMBOLIC)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${root}> $<INSTALL_INTERFACE:include/t3vp>)
  set_property(GLOBAL APPEND PROPERTY t3vp_layers ${target})
  t3vp_parameters(${target})
endfunction()

# To be called when all layers are there: a line "<folder of the sources>: <targets that it links>" for each.
function(t3vp_write_layers file)
  get_property(layers GLOBAL PROPERTY t3vp_layers)
  set(text "")
  foreach(target ${layers})
    get_target_property(folder ${target} SOURCE_DIR)
    get_target_property(links ${target} LINK_LIBRARIES)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    list(JOIN links " " links)
    string(APPEND text "${folder}: ${links}\n")
  endforeach()
  file(WRITE ${file} "${text}")
endfunction()
