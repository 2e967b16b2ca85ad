"""Compares the results of the conformance runner with the floor in floor.txt, which may only rise."""
import json, os, sys

floor = int(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'floor.txt')).read())
results = [json.loads(line) for line in open(sys.argv[1])]
count = {kind: sum(r['result'] == kind for r in results) for kind in ('pass', 'fail', 'error', 'unsupported')}
print(f'{count["pass"]} passed, floor {floor}; {count["fail"] + count["error"]} failed, {count["unsupported"]} of features that are not supported')
if count['pass'] < floor: sys.exit(f'fewer cases pass than before: {count["pass"]} < {floor}')
if count['pass'] > floor: print(f'raise the floor in tests/lb/floor.txt to {count["pass"]}')
