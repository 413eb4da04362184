// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace copse::server {

/// What a caller may do; each may do all that those before it may.
enum class Role { nobody, read, label, admin };
const char* role_name(Role role);

/// The tokens of a data directory: a file of names, roles and SHA-256 hashes. The token itself is shown once,
/// when it is made.
class Tokens {
 public:
  struct Entry {
    std::string name;
    Role role;
    std::string hash;  // hexadecimal
  };

  /// No file is no token.
  explicit Tokens(const std::string& directory);
  /// Makes a token for a new name and returns it; UsageError for a name that has one, or a role there is not.
  std::string add(const std::string& name, const std::string& role);
  void remove(const std::string& name);  // UsageError if there is none
  const std::vector<Entry>& entries() const { return entries_; }
  /// Whose token this is: takes the same time for every wrong one.
  std::optional<Entry> find(const std::string& token) const;

 private:
  void save() const;
  std::string path_;
  std::vector<Entry> entries_;
};

/// The token of an Authorization header, "" if it has none: Bearer, or the password of Basic, which is all
/// that some programs can send.
std::string token_in(const std::string& header);

/// So many random bytes, in hexadecimal.
std::string random_hex(std::size_t num_bytes);

}  // namespace copse::server
