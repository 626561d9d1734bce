import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifySerializerCompiler } from 'fastify';

const compile = SerializerSelector()();

/** Fastify's own serializer, compiled at the first response that needs it (see `validatorCompiler`). */
export const serializerCompiler: FastifySerializerCompiler<unknown> = ({
  schema,
  method,
  url,
  httpStatus = 'default',
}) => {
  let compiled: ((answer: unknown) => string) | null = null;
  return (answer) => {
    compiled ??= compile({ schema, method, url, httpStatus });
    return compiled(answer);
  };
};
