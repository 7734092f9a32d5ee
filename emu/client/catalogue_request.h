// A server's catalogue of one context: what is there, before any of it is asked for.
#pragma once

#include "base/result.h"
#include "emu/client/client_connection.h"
#include "emu/contents/catalogue.h"

namespace sluice {

// On a connection of its own that is closed again. Errors: no connection, the server does not have
// the context, or what came is no catalogue; all of that within the limits of patience.
[[nodiscard]] Result<Catalogue> fetch_catalogue(const ServerPlace& server, ContextId context,
                                                const PatienceLimits& patience = {});

}  // namespace sluice
