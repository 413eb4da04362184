// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/service.hpp"

// Label Studio's protocol for a "machine learning backend", answered from the first graph: a task is a node,
// named by the field that the project shows, and its <Choices> is the node's label.

namespace copse::server {

Response label_studio_health(const Call& call);
Response label_studio_setup(const Call& call);
Response label_studio_predict(const Call& call);
/// An annotation becomes a label, a cancelled one a skip. Deliveries that come again are stored once.
void label_studio_webhook(const Call& call, const Reply& reply);

}  // namespace copse::server
