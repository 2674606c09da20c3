/** Runs an app of two processes: `pm2 start ecosystem.config.cjs`. */
module.exports = {
  apps: [
    {
      name: "push",
      script: "receive.mjs",
      exec_mode: "cluster",
      instances: 2,
      // pm2 sends SIGINT. This covers the pause after it, push.close() and the handlers of a worker;
      // by default, pm2 kills a process after 1.6 s.
      kill_timeout: 30_000,
    },
  ],
};
