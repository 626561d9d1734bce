import { Table, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { schemaRows } from './schema-rows.ts';

const indentPx = 18;

/** The fields of an event, each below what it is in. */
export function SchemaTree({ schema }: { readonly schema: unknown }): ReactElement {
  return (
    <Table aria-label="Fields" verticalSpacing={4} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="40%">Field</Table.Th>
          <Table.Th>Type</Table.Th>
          <Table.Th visibleFrom="sm">Meaning</Table.Th>
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
                {type}
                {required ? '' : ' (may be left out)'}
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
