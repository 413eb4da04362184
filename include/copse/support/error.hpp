// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace copse {

/// What every copse error says: where it happened, what is wrong, and what to do about it.
/// `what()` is the whole text, "where: what\n  remedy", the same on every interface.
class Error : public std::runtime_error {
 public:
  Error(const std::string& where, const std::string& problem, const std::string& remedy);
  const std::string& where() const { return where_; }
  const std::string& problem() const { return problem_; }
  const std::string& remedy() const { return remedy_; }

 private:
  std::string where_, problem_, remedy_;
};

/// The data is wrong.
class InputError : public Error {
  using Error::Error;
};

/// The call is wrong: an unknown option, a value out of range, a combination that makes no sense.
class UsageError : public Error {
  using Error::Error;
};

/// The caller asked to stop (Ctrl-C, a closed connection). Not an error of anyone's.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// "path:line", the usual `where` of an InputError. Lines count from 1.
std::string at(std::string_view path, std::uint64_t line);

/// `text` in double quotes, control bytes escaped and long text shortened: safe to show in a message.
std::string quoted(std::string_view text);

/// 1234567 as "1,234,567".
std::string with_commas(std::uint64_t number);

}  // namespace copse
