"""LangGraph's Agent Server, in memory: `server.py PORT`. An environment variable says whose card it serves without `?assistant_id=`."""
import os
import sys
import tempfile
import threading
import time
import urllib.request
import uuid

from langgraph_api.cli import run_server

port = sys.argv[1]
# Every graph has an assistant whose id is made of its name.
os.environ['DEFAULT_A2A_ASSISTANT_ID'] = str(uuid.uuid5(uuid.UUID('6ba7b821-9dad-11d1-80b4-00c04fd430c8'), 'peer'))
here = os.path.dirname(os.path.abspath(__file__))

os.chdir(tempfile.mkdtemp(prefix='langgraph-'))  # it writes into its working folder


def wait():
    while True:
        try:
            urllib.request.urlopen(f'http://127.0.0.1:{port}/ok')
            break
        except OSError:
            time.sleep(0.2)
    print('ready', flush=True)


threading.Thread(target=wait, daemon=True).start()
run_server(host='127.0.0.1', port=int(port), graphs={'peer': f'{here}/graph.py:graph'}, n_jobs_per_worker=10, allow_blocking=True, disable_persistence=True)
