"use strict";

/** Opens and closes a queue where no Postgres listens. */
module.exports.closeUnused = async function closeUnused({ postgresQueue }) {
  await postgresQueue?.({ name: "story", connection: "postgres://127.0.0.1:9/app" }).close();
};
