// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "copse/queries/query.hpp"
#include "server/model.hpp"

namespace copse::server {

using StrategySetup = Setup<QueryRow>;

/// The next questions, chosen by a query strategy in a thread of its own: whoever asks gets those that are
/// ready, which may not know the last labels. Whether a node may still be asked about is the caller's.
class Questions {
 public:
  Questions(const GraphView& graph, const StrategySetup& setup);

  /// The node has this label now; kNoLabel is none.
  void change(NodeId node, Label label);
  /// Nobody can tell this node's label, or somebody can after all.
  void exclude(NodeId node, bool is_excluded);
  void start();
  /// The nodes to ask about next, most urgent first; at least `count` of them if the strategy has as many and
  /// is ready within a moment.
  std::vector<NodeId> next(std::size_t count);

 private:
  void choose_until_stopped();
  void choose_again();

  std::vector<Label> first_labels_;
  std::unique_ptr<QueryStrategy> strategy_;

  // Of worker_.mutex:
  std::condition_variable chosen_;
  std::size_t wanted_ = 50;
  bool is_stale_ = true, is_asked_ = false;
  std::vector<NodeId> ready_;
  bool is_ready_ = false;
  Worker worker_;
};

}  // namespace copse::server
