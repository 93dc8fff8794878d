"""What generators have in common that let C++ ROOT tell values as JSON."""

import json

JSON = r"""
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

// Values as JSON.
std::string json(bool v) { return v ? "true" : "false"; }
std::string json(int v) { return std::to_string(v); }
std::string json(unsigned v) { return std::to_string(v); }
std::string json(double v)
{
  char out[40];
  snprintf(out, sizeof out, "%.17g", v);
  return out;
}
std::string json(const char *v) { return std::string("\"") + v + "\""; }
std::string json(const std::string &v) { return json(v.c_str()); }
std::string record(std::initializer_list<std::pair<const char *, std::string>> fields)
{
  std::string out;
  for (auto &[name, value] : fields)
    out += (out.empty() ? "{" : ", ") + json(name) + ": " + value;
  return out + "}";
}
template <class C, class F>
std::string items(const C &all, F &&each)
{
  std::string out;
  for (auto &&item : all)
    out += (out.empty() ? "" : ", ") + each(item);
  return "[" + out + "]";
}
template <class T>
std::string numbers(const T *v, int n)
{
  return items(std::vector<T>(v, v + n), [](auto x) { return json(x); });
}
"""


def write(path, golden):
    """One line for each branch."""
    lines = (f"{json.dumps(name)}: {json.dumps(found)}" for name, found in golden.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
