import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifySerializerCompiler } from 'fastify';

const compile = SerializerSelector()();

/** Fastify's own, made when the first answer needs it (see `validatorCompiler`). */
export const serializerCompiler: FastifySerializerCompiler<unknown> = ({
  schema,
  method,
  url,
  httpStatus = 'default',
}) => {
  let made: ((answer: unknown) => string) | null = null;
  return (answer) => {
    made ??= compile({ schema, method, url, httpStatus });
    return made(answer);
  };
};
