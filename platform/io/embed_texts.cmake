# cmake -DOUTPUT=file.cpp "-DFILES=a|b" -P embed_texts.cmake: a C++ source that returns the files' texts by name.
string(REPLACE "|" ";" FILES "${FILES}")
set(rows "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" text "${text}")
  string(LENGTH "${text}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 4000 piece)
    string(APPEND pieces "\n     \"${piece}\"")
    math(EXPR at "${at} + 4000")
  endwhile()
  string(APPEND rows "    {\"${name}\",${pieces}},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"io/embedded_texts.h\"

#include <map>

namespace t3vp {

std::string_view embedded_text(const std::string& name) {
  static const std::map<std::string, std::string_view> texts = {
${rows}  };
  const auto found = texts.find(name);
  return found == texts.end() ? std::string_view{} : found->second;
}

}  // namespace t3vp
")
