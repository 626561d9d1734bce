import { Table, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { texts } from '../texts.ts';
import { schemaRows } from './schema-rows.ts';

const indentPx = 18;

/** The fields of an event as a tree. */
export function SchemaTree({ schema }: { readonly schema: unknown }): ReactElement {
  return (
    <Table aria-label={texts.fields} verticalSpacing={4} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="40%">{texts.field}</Table.Th>
          <Table.Th>{texts.type}</Table.Th>
          <Table.Th visibleFrom="sm">{texts.description}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {schemaRows(schema).map(({ path, depth, name, type, required, description }) => (
          <Table.Tr key={path}>
            <Table.Td>
              <Text size="sm" ff="monospace" pl={depth * indentPx} span display="block">
                {name}
              </Text>
            </Table.Td>
            <Table.Td>
              <Text size="sm" span>
                {required ? type : texts.optionalType(type)}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Text size="sm" span>
                {description}
              </Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
