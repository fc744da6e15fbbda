// The version that the build stamped in; running from the sources has none.

declare const __VERSION__: string | undefined;

export const version: string = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-source';
