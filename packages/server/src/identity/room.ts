import { AddressHasher } from '../platform/limits/address-hasher.ts';
import { auditLog, dropDays, makeDays } from '../platform/database/daily-logs.ts';
import { RateLimit } from '../platform/limits/rate-limit.ts';
import type { Platform, Room } from '../platform/room.ts';
import { LastUse } from './access-tokens/last-use.ts';
import { accessTokenRoutes } from './access-tokens/routes.ts';
import { addressOfCallers, type AddressOf } from './address-of.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { applicationTokenRoutes } from './application-tokens/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { Authenticator } from './authenticate.ts';
import { createDirectory, type Directory } from './directory.ts';
import { colleagueRoutes } from './operators/colleague-routes.ts';
import { pictureRoutes } from './operators/pictures/routes.ts';
import { operatorRoutes } from './operators/routes.ts';
import { Sealer } from './sealer.ts';
import { Guesses, guessLimits } from './sign-in/guesses.ts';
import { PasswordHasher } from './sign-in/passwords/hasher.ts';
import { signInRoutes } from './sign-in/routes.ts';
import { dropExpiredRevocations, dropExpiredSignIns } from './sign-in/store.ts';
import { dropRetiredKeys, Keyring } from './signing-keys.ts';
import { siteRoutes } from './sites/routes.ts';
import { teamRoutes } from './teams/routes.ts';
import { Tokens } from './tokens.ts';
import { VisitorGate } from './visitors/gate.ts';
import { visitorRoutes } from './visitors/routes.ts';
import { dropUnusedVisitors } from './visitors/sweep.ts';

export interface Identity {
  readonly directory: Directory;
  readonly tokens: Tokens;
  readonly sealer: Sealer;
  readonly authenticator: Authenticator;
  readonly addressOf: AddressOf;
}

export async function openIdentity(platform: Platform): Promise<Room & Identity> {
  const { config, database, lookups, changes, clock, log, sharedUses } = platform;
  const { sql } = database;
  const directory = createDirectory(lookups, changes);
  const tokens = new Tokens(new Keyring(lookups, changes), () => clock.steadyNow());
  const lastUse = new LastUse(sql, log);
  const signIn = {
    tokens,
    directory,
    attempts: new RateLimit('sign-in', config.rateLimitSignIn, sharedUses),
    guesses: new Guesses(guessLimits(config.rateLimitSignIn), sharedUses),
    hasher: new PasswordHasher(),
    publicUrl: config.publicUrl,
  };
  return {
    directory,
    tokens,
    sealer: new Sealer(lookups),
    authenticator: new Authenticator(tokens, directory, {
      now: () => clock.databaseNow(),
      onUse: (id) => lastUse.markUsed(id),
    }),
    addressOf: addressOfCallers(await AddressHasher.load(lookups)),
    routes(app) {
      signInRoutes(app, signIn);
      apiKeyRoutes(app);
      accessTokenRoutes(app);
      applicationTokenRoutes(app);
      siteRoutes(app, directory);
      teamRoutes(app);
      operatorRoutes(app, signIn);
      pictureRoutes(app, lookups, changes);
      colleagueRoutes(app);
      auditRoutes(app, config.eventRetentionDays);
      visitorRoutes(app, tokens, new VisitorGate(directory, sharedUses));
    },
    sweeps: {
      always: { make_audit_days: async () => makeDays(sql, auditLog) },
      expired: {
        drop_audit_days: async ({ now }) => dropDays(sql, auditLog, { now, days: config.eventRetentionDays }),
        drop_revocations: async ({ steadyNow }, shouldContinue) =>
          dropExpiredRevocations(sql, steadyNow, shouldContinue),
        drop_sign_ins: async ({ now }, shouldContinue) => dropExpiredSignIns(sql, now, shouldContinue),
        drop_signing_keys: async ({ now }) => dropRetiredKeys(sql, now),
        drop_visitors: async ({ now }, shouldContinue) => dropUnusedVisitors(sql, now, shouldContinue),
      },
    },
    close: async () => lastUse.stop(),
  };
}
