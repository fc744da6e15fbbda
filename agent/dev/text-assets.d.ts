// Files that the bundle carries as text (scripts/build.ts, `loader`).

declare module '*.html' {
  const text: string;
  export default text;
}

declare module '*.css' {
  const text: string;
  export default text;
}

declare module '*.client.js' {
  const text: string;
  export default text;
}
