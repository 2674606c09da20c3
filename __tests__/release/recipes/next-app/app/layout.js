import { createElement } from "react";
const Layout = ({ children }) => createElement("html", {}, createElement("body", {}, children));
export default Layout;
