/** Texts of senders and of errors that a page must show as text. */
export const HOSTILE = [
  `<script>document.title = "owned"</script><img src=x onerror="document.title='owned'">`,
  `"'\`><svg/onload=alert(1)>{{7*7}}\${7*7}<!--`,
  "user\u202Egpj.exe\u202C and \u2066isolated\u2069",
  "x".repeat(1_024),
  "line one\nline two\u0000\u001b[31m",
];
