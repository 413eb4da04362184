// SPDX-License-Identifier: Apache-2.0
#include "server/tokens.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "copse/graph/names.hpp"
#include "copse/support/error.hpp"
#include "support/atomic_file.hpp"

namespace copse::server {

namespace {

constexpr std::array<const char*, 4> kRoleNames{"nobody", "read", "label", "admin"};

Role role_of(const std::string& where, const std::string& text) {
  for (std::size_t i = 1; i < kRoleNames.size(); ++i)
    if (text == kRoleNames[i]) return static_cast<Role>(i);
  throw UsageError(where, copse::quoted(text) + " is not one of read, label, admin",
                   "read sees, label sees and labels, admin does everything");
}

std::string hex(const unsigned char* bytes, std::size_t size) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) (text += digits[bytes[i] >> 4]) += digits[bytes[i] & 15];
  return text;
}

std::string sha256(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return hex(digest.data(), size);
}

}  // namespace

const char* role_name(Role role) { return kRoleNames.at(static_cast<std::size_t>(role)); }

std::string token_in(const std::string& header) {
  if (header.starts_with("Bearer ")) return header.substr(7);
  if (!header.starts_with("Basic ") || header.size() % 4 != 2) return "";  // base64 comes in fours
  std::string plain(header.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(plain.data()),
                                   reinterpret_cast<const unsigned char*>(header.data() + 6),
                                   static_cast<int>(header.size() - 6));
  plain.resize(static_cast<std::size_t>(std::max(size, 0)));
  while (!plain.empty() && plain.back() == '\0') plain.pop_back();  // where the padding was
  return plain.substr(std::min(plain.find(':'), plain.size() - 1) + 1);
}

std::string random_hex(std::size_t num_bytes) {
  std::vector<unsigned char> bytes(num_bytes);
  if (RAND_bytes(bytes.data(), static_cast<int>(num_bytes)) != 1)
    throw UsageError("random numbers", "the system has none",
                     "a token must not be guessable: try again later");
  return hex(bytes.data(), num_bytes);
}

Tokens::Tokens(const std::string& directory) : path_(directory + "/tokens.tsv") {
  std::ifstream file(path_);
  std::string line;
  for (std::uint64_t number = 1; std::getline(file, line); ++number) {
    std::istringstream fields(line);
    Entry entry;
    std::string role;
    std::getline(fields, entry.name, '\t');
    std::getline(fields, role, '\t');
    std::getline(fields, entry.hash);
    if (entry.hash.size() != 64)
      throw InputError(at(path_, number), "is not name<TAB>role<TAB>SHA-256",
                       "make tokens with `copse serve token add`; remove the line");
    entry.role = role_of(at(path_, number), role);
    entries_.push_back(std::move(entry));
  }
}

std::string Tokens::add(const std::string& name, const std::string& role) {
  if (name.empty() || name.size() > 256)
    throw UsageError("NAME", "a name has 1 to 256 bytes", "choose another");
  check_name(name, "NAME");
  if (std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.name == name; }))
    throw UsageError("NAME", copse::quoted(name) + " has a token",
                     "remove it first: copse serve token remove");
  constexpr std::size_t kTokenBytes = 32;
  const std::string token = "copse_" + random_hex(kTokenBytes);
  entries_.push_back({name, role_of("ROLE", role), sha256(token)});
  save();
  return token;
}

void Tokens::remove(const std::string& name) {
  if (std::erase_if(entries_, [&](const Entry& entry) { return entry.name == name; }) == 0)
    throw UsageError("NAME", copse::quoted(name) + " has no token", "`copse serve token list` shows all");
  save();
}

void Tokens::save() const {
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
  const mode_t before = ::umask(0077);
  AtomicFile file(path_);
  ::umask(before);
  for (const Entry& entry : entries_)
    file.write(entry.name + "\t" + role_name(entry.role) + "\t" + entry.hash + "\n");
  file.commit();
}

std::optional<Tokens::Entry> Tokens::find(const std::string& token) const {
  const std::string hash = sha256(token);
  std::optional<Entry> found;
  for (const Entry& entry : entries_)
    if (CRYPTO_memcmp(entry.hash.data(), hash.data(), hash.size()) == 0) found = entry;
  return found;
}

}  // namespace copse::server
