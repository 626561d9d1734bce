export const builtStamp: string;
export function builtFrom(): string;
export function isBuilt(): boolean;
