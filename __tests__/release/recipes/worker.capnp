using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "*:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-05-01",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [
    (name = "PUSH_AUTH_TOKEN", fromEnvironment = "PUSH_AUTH_TOKEN"),
    (name = "PUSH_PUBLIC_URL", fromEnvironment = "PUSH_PUBLIC_URL"),
  ],
);
