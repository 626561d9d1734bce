export const builtStamp: string;
export function builtFrom(): string;
export function isBuilt(): boolean;
export const serverBuilds: string;
export const serverEntry: string;
export function serverBuild(): string;
export const allocatorSettings: Readonly<Record<string, string>>;
export function serverProgram(): string;
