// Compiles classes.h and asks for the dictionaries that ROOT needs to write nested vectors at all.
#include "classes.h"

#ifdef __ROOTCLING__
#pragma link C++ struct Point+;
#pragma link C++ struct Hit+;
#pragma link C++ class Track+;
#pragma link C++ struct Header+;
#pragma link C++ struct Event+;
#pragma link C++ struct Ruled+;
#pragma link C++ struct Cluster+;
#pragma link C++ struct Mixed+;
#pragma link C++ class std::map<std::string, std::vector<Hit>>+;
#pragma link C++ class std::map<int, Point>+;
#pragma link C++ class std::multimap<int, std::string>+;
#pragma link C++ class std::unordered_map<std::string, float>+;
#pragma link C++ class std::pair<int, std::string>+;
#pragma link C++ class std::pair<int, float>+;
#pragma link C++ class std::vector<std::pair<int, float>>+;
#pragma link C++ class std::vector<std::vector<Point>>+;
#pragma link C++ class std::vector<Cluster>+;
#pragma link C++ class std::vector<Track *>+;
#pragma link C++ class std::bitset<10>+;
#pragma link C++ class std::list<std::string>+;
#pragma link C++ class std::deque<double>+;
#pragma link C++ class std::set<int>+;
#pragma read sourceClass="Ruled" version="[1-]" source="int stored" targetClass="Ruled" target="derived" code="{ derived = 2.0 * onfile.stored; }"
#pragma link C++ class std::vector<Hit>+;
#pragma link C++ class std::vector<Point>+;
#pragma link C++ class std::vector<char>+;
#pragma link C++ class std::vector<signed char>+;
#pragma link C++ class std::vector<unsigned char>+;
#pragma link C++ class std::vector<short>+;
#pragma link C++ class std::vector<unsigned short>+;
#pragma link C++ class std::vector<unsigned int>+;
#pragma link C++ class std::vector<Long64_t>+;
#pragma link C++ class std::vector<ULong64_t>+;
#pragma link C++ class std::vector<TString>+;
#pragma link C++ class std::vector<std::vector<bool>>+;
#pragma link C++ class std::vector<std::vector<char>>+;
#pragma link C++ class std::vector<std::vector<unsigned char>>+;
#pragma link C++ class std::vector<std::vector<short>>+;
#pragma link C++ class std::vector<std::vector<unsigned short>>+;
#pragma link C++ class std::vector<std::vector<int>>+;
#pragma link C++ class std::vector<std::vector<unsigned int>>+;
#pragma link C++ class std::vector<std::vector<Long64_t>>+;
#pragma link C++ class std::vector<std::vector<ULong64_t>>+;
#pragma link C++ class std::vector<std::vector<float>>+;
#pragma link C++ class std::vector<std::vector<double>>+;
#pragma link C++ class std::vector<std::vector<std::string>>+;
#pragma link C++ class std::vector<std::vector<std::vector<bool>>>+;
#pragma link C++ class std::vector<std::vector<std::vector<int>>>+;
#pragma link C++ class std::vector<std::vector<std::vector<float>>>+;
#pragma link C++ class std::vector<std::vector<std::vector<double>>>+;
#pragma link C++ class std::vector<std::vector<std::vector<std::string>>>+;
#pragma link C++ class std::vector<std::vector<std::vector<std::vector<short>>>>+;
#pragma link C++ class std::vector<std::vector<std::vector<std::vector<float>>>>+;
#pragma link C++ class std::vector<std::vector<std::vector<std::vector<std::string>>>>+;
#endif
