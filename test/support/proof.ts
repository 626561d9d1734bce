/** Whether this is `npm run prove`, which runs the long form of tests. */
export const isProof = process.env['PROVE'] !== undefined;

/** Options of tests that run only with `npm run prove`. Every page also has tests that always run. */
export const proof = { skip: isProof ? false : 'runs with npm run prove' };
