import { execFileSync } from "node:child_process";
import { join } from "node:path";

export function createCertificate(folder: string) {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1";
  const words = `req -x509 -newkey rsa:2048 -nodes -days 2 ${subject} -keyout ${key} -out ${cert}`;
  execFileSync("openssl", words.split(" "), { stdio: "ignore" });
  return { key, cert };
}
